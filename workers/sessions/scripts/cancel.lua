-- KEYS: turn, events, active, waiting, moving
-- ARGV: turn id, event, live channel, now (s), prefix of turn keys, kept (s)
-- Returns {"unknown"} | {"already_over"} | {"cancelled", next turn of the chat or ""}
local phase = redis.call('HGET', KEYS[1], 'phase')
if not phase then return {'unknown'} end
local moving = {accepted = true, classifying = true, extracting = true, calling = true, formatting = true}
if not moving[phase] then return {'already_over'} end

redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'phase', 'cancelled')
local id = redis.call('HINCRBY', KEYS[1], 'seq', 1) .. '-0'
redis.call('XADD', KEYS[2], id, 'e', ARGV[2])
redis.call('PUBLISH', ARGV[3], '{"id":"' .. id .. '","event":' .. ARGV[2] .. '}')
redis.call('ZREM', KEYS[5], ARGV[1])
redis.call('LREM', KEYS[4], 0, ARGV[1])
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return {'cancelled', ''} end

local next_turn = redis.call('LPOP', KEYS[4])
while next_turn and redis.call('HGET', ARGV[5] .. next_turn, 'phase') ~= 'accepted' do
  next_turn = redis.call('LPOP', KEYS[4])
end
if not next_turn then
  redis.call('DEL', KEYS[3])
  return {'cancelled', ''}
end
redis.call('SET', KEYS[3], next_turn, 'EX', ARGV[6])
redis.call('ZADD', KEYS[5], ARGV[4], next_turn)
return {'cancelled', next_turn}
