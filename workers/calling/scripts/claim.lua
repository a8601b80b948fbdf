-- Who makes this call? KEYS: outcomes, lease, sending mark. ARGV: call id, token, lease in ms.
-- Answers {'outcome', json}, {'busy'}, {'abandoned'} or {'mine'}; the last two hold the lease under the token.
local outcome = redis.call('HGET', KEYS[1], ARGV[1])
if outcome then
  return { 'outcome', outcome }
end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[2] then
  return { 'busy' }
end
-- The holder may be ourselves: the client repeats a command whose reply was lost.
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
if redis.call('EXISTS', KEYS[3]) == 1 then
  return { 'abandoned' }
end
return { 'mine' }
