-- A follower says how far it has come. Followers not heard of for the given time are forgotten.
-- KEYS: followers, applied, head    ARGV: follower, epoch, seq, forgotten after (s)
-- Returns the head: epoch, seq.
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. (now - tonumber(ARGV[4])))) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('HDEL', KEYS[2], gone)
end
return { redis.call('HGET', KEYS[3], 'epoch') or '', redis.call('HGET', KEYS[3], 'seq') or '0' }
