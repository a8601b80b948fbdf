-- KEYS: entry, flight
-- Returns {called at (ms), outcome}, or {} for nothing, or what is due to be renewed and nobody renews
local kept = redis.call('HMGET', KEYS[1], 'at', 'outcome', 'due')
if not kept[2] then return {} end
local time = redis.call('TIME')
local is_due = kept[3] and tonumber(kept[3]) <= time[1] * 1000 + math.floor(time[2] / 1000)
if is_due and redis.call('EXISTS', KEYS[2]) == 0 then return {} end
return {kept[1], kept[2]}
