-- KEYS: turn, events, chat, active, claim, moving
-- ARGV: turn id, token, lease (ms), phases this stage serves (",a,b,"), phase to enter, event of entering, live channel,
--       now (s)
-- Returns {"unknown"} | {"claimed"} | {"moved", record, phase, version, attempt, active turn}
--       | {"mine", record, phase, version, attempt, conversation}
local found = redis.call('HMGET', KEYS[1], 'record', 'phase', 'version', 'attempt')
if not found[1] then return {'unknown'} end
if not string.find(ARGV[4], ',' .. found[2] .. ',', 1, true) then
  return {'moved', found[1], found[2], found[3], found[4], redis.call('GET', KEYS[4]) or ''}
end
local owner = redis.call('GET', KEYS[5])
if owner and owner ~= ARGV[2] then return {'claimed'} end
-- A queued turn waits for its chat even when a message for it arrives early.
if found[2] == 'accepted' and redis.call('GET', KEYS[4]) ~= ARGV[1] then
  return {'moved', found[1], found[2], found[3], found[4], redis.call('GET', KEYS[4]) or ''}
end

redis.call('SET', KEYS[5], ARGV[2], 'PX', ARGV[3])
-- A new version fences whoever worked on this turn before us and is not dead after all.
local version = redis.call('HINCRBY', KEYS[1], 'version', 1)
local attempt = redis.call('HINCRBY', KEYS[1], 'attempt', 1)
if found[2] ~= ARGV[5] then
  redis.call('HSET', KEYS[1], 'phase', ARGV[5])
  local id = redis.call('HINCRBY', KEYS[1], 'seq', 1) .. '-0'
  redis.call('XADD', KEYS[2], id, 'e', ARGV[6])
  redis.call('PUBLISH', ARGV[7], '{"id":"' .. id .. '","event":' .. ARGV[6] .. '}')
end
redis.call('ZADD', KEYS[6], ARGV[8], ARGV[1])
return {'mine', found[1], ARGV[5], version, attempt, redis.call('GET', KEYS[3]) or ''}
