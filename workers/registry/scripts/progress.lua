-- How far the followers heard of lately have come.
-- KEYS: followers, applied, head    ARGV: forgotten after (s)
-- Returns the epoch, then 'epoch seq' of each live follower.
local now = tonumber(redis.call('TIME')[1])
local live = redis.call('ZRANGEBYSCORE', KEYS[1], now - tonumber(ARGV[1]), '+inf')
local reply = { redis.call('HGET', KEYS[3], 'epoch') or '' }
for _, follower in ipairs(live) do
  reply[#reply + 1] = redis.call('HGET', KEYS[2], follower) or ' 0'
end
return reply
