-- KEYS: entry, flight
-- ARGV: token, lease (ms), "1" to pass by what is kept
-- Returns {"hit", called at (ms), outcome} | {"lead", now (ms)} | {"wait", the leader's token}
if ARGV[3] == '' then
  local kept = redis.call('HMGET', KEYS[1], 'at', 'outcome')
  if kept[2] then return {'hit', kept[1], kept[2]} end
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local time = redis.call('TIME')
  return {'lead', time[1] .. string.format('%03d', math.floor(time[2] / 1000))}
end
return {'wait', redis.call('GET', KEYS[2])}
