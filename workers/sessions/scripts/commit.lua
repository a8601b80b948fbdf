-- KEYS: turn, events, chat, active, waiting, moving, claim
-- ARGV: turn id, version, record, phase, ended ("1" or ""), now (s), conversation ("" leaves it), its TTL (s), live
--       channel, prefix of turn keys, kept (s), events…
-- Returns {"stale"} | {"done", version, next turn of the chat or ""}
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[2] then return {'stale'} end
local version = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'record', ARGV[3], 'phase', ARGV[4])
for i = 12, #ARGV do
  local id = redis.call('HINCRBY', KEYS[1], 'seq', 1) .. '-0'
  redis.call('XADD', KEYS[2], id, 'e', ARGV[i])
  redis.call('PUBLISH', ARGV[9], '{"id":"' .. id .. '","event":' .. ARGV[i] .. '}')
end
if ARGV[7] ~= '' then redis.call('SET', KEYS[3], ARGV[7], 'EX', ARGV[8]) end
redis.call('DEL', KEYS[7])
if ARGV[5] == '' then
  redis.call('ZADD', KEYS[6], ARGV[6], ARGV[1])
  return {'done', version, ''}
end

redis.call('ZREM', KEYS[6], ARGV[1])
if redis.call('GET', KEYS[4]) ~= ARGV[1] then return {'done', version, ''} end
local next_turn = redis.call('LPOP', KEYS[5])
while next_turn and redis.call('HGET', ARGV[10] .. next_turn, 'phase') ~= 'accepted' do
  next_turn = redis.call('LPOP', KEYS[5])
end
if not next_turn then
  redis.call('DEL', KEYS[4])
  return {'done', version, ''}
end
redis.call('SET', KEYS[4], next_turn, 'EX', ARGV[11])
redis.call('ZADD', KEYS[6], ARGV[6], next_turn)
return {'done', version, next_turn}
