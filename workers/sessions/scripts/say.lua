-- KEYS: turn, events;  ARGV: attempt ("" = any attempt may tell this), live channel, events…
-- Returns 1, or 0 when the turn has moved on and nothing may be said any more.
local found = redis.call('HMGET', KEYS[1], 'attempt', 'phase')
local moving = {accepted = true, classifying = true, extracting = true, calling = true, formatting = true}
if not moving[found[2] or ''] or (ARGV[1] ~= '' and found[1] ~= ARGV[1]) then return 0 end
for i = 3, #ARGV do
  local id = redis.call('HINCRBY', KEYS[1], 'seq', 1) .. '-0'
  redis.call('XADD', KEYS[2], id, 'e', ARGV[i])
  redis.call('PUBLISH', ARGV[2], '{"id":"' .. id .. '","event":' .. ARGV[i] .. '}')
end
return 1
