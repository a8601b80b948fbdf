-- The first outcome of a call wins. KEYS: outcomes, sending mark. ARGV: call id, outcome, kept in s,
-- outcome to record instead when the sending mark stands ('' for none).
-- Answers the outcome that holds.
local outcome = ARGV[2]
if ARGV[4] ~= '' and redis.call('EXISTS', KEYS[2]) == 1 then
  outcome = ARGV[4]
end
redis.call('HSETNX', KEYS[1], ARGV[1], outcome)
redis.call('EXPIRE', KEYS[1], ARGV[3])
return redis.call('HGET', KEYS[1], ARGV[1])
