-- KEYS: entry, flight
-- ARGV: token, lease (ms), "1" to pass by what is kept
-- Returns {"hit", called at (ms), outcome} | {"lead", now (ms)} | {"wait", the leader's token}
-- The first who asks for what is due to be renewed leads; while he does, the others are told what is kept.
local time = redis.call('TIME')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
local kept = ARGV[3] == '' and redis.call('HMGET', KEYS[1], 'at', 'outcome', 'due') or {}
local is_due = kept[3] and tonumber(kept[3]) <= tonumber(now)
if kept[2] and not is_due then return {'hit', kept[1], kept[2]} end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return {'lead', now} end
if kept[2] then return {'hit', kept[1], kept[2]} end
return {'wait', redis.call('GET', KEYS[2])}
