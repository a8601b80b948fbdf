-- KEYS: turn, events, active, waiting, moving
-- ARGV: turn id, record, event, on_busy, queue limit, now (s), kept (s), prefix of turn keys
-- Returns {"started"} | {"queued", position} | {"rejected", active turn} | {"full", queue length} | {"known"}
local function append_event()
  redis.call('XADD', KEYS[2], '1-0', 'e', ARGV[3])
  redis.call('EXPIRE', KEYS[2], ARGV[7])
end

if redis.call('EXISTS', KEYS[1]) == 1 then return {'known'} end

local holder = redis.call('GET', KEYS[3])
local moving = {accepted = true, classifying = true, extracting = true, calling = true, formatting = true}
local busy = holder and moving[redis.call('HGET', ARGV[8] .. holder, 'phase') or '']
if busy and ARGV[4] == 'reject' then return {'rejected', holder} end
if busy and redis.call('LLEN', KEYS[4]) >= tonumber(ARGV[5]) then
  return {'full', redis.call('LLEN', KEYS[4])}
end

redis.call('HSET', KEYS[1], 'record', ARGV[2], 'phase', 'accepted', 'version', 0, 'attempt', 0, 'seq', 1)
redis.call('EXPIRE', KEYS[1], ARGV[7])
append_event()
redis.call('ZADD', KEYS[5], ARGV[6], ARGV[1])
if busy then
  local position = redis.call('RPUSH', KEYS[4], ARGV[1])
  redis.call('EXPIRE', KEYS[4], ARGV[7])
  return {'queued', position}
end
redis.call('SET', KEYS[3], ARGV[1], 'EX', ARGV[7])
return {'started'}
