-- May the holder of this token go on? KEYS: outcomes, lease, sending mark.
-- ARGV: call id, token, lease in ms, how long the mark is kept in s (0: no mark).
-- Answers 1, or 0 when the lease passed to another or the call already has its outcome.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 or redis.call('GET', KEYS[2]) ~= ARGV[2] then
  return 0
end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
if tonumber(ARGV[4]) > 0 then
  redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[4])
end
return 1
