-- KEYS: flight
-- ARGV: token, lease (ms); 0 gives it back
-- Returns 1, or 0 when the flight is another's
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
