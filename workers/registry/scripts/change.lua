-- Change one endpoint: its record, what search needs of it, and the log, all or nothing.
-- KEYS: records, order, vectors, positions, head, log
-- ARGV: id, expected record ('' = none), new record ('' = delete), old order member, new order member,
--       searchable ('' = leave), kind ('' = not logged), log length, epoch to begin with
-- Returns the place in the log (0 when not logged), or -1 when the record is not the expected one.
local current = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if current ~= ARGV[2] then return -1 end

if ARGV[4] ~= '' and ARGV[4] ~= ARGV[5] then redis.call('ZREM', KEYS[2], ARGV[4]) end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[3], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('ZADD', KEYS[2], 0, ARGV[5])
  if ARGV[6] ~= '' then redis.call('HSET', KEYS[3], ARGV[1], ARGV[6]) end
end

if ARGV[7] == '' then return 0 end
redis.call('HSETNX', KEYS[5], 'epoch', ARGV[9])
local seq = redis.call('HINCRBY', KEYS[5], 'seq', 1)
redis.call('XADD', KEYS[6], 'MAXLEN', '~', ARGV[8], seq .. '-0', 'kind', ARGV[7], 'id', ARGV[1])
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[4], ARGV[1])
else
  redis.call('HSET', KEYS[4], ARGV[1], seq)
end
return seq
