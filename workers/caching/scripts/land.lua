-- KEYS: entry, flight, landed
-- ARGV: token, called at (ms), outcome ("" keeps nothing), kept for (ms), due to be renewed in (ms), what the waiting
--       hear, for how long (ms)
-- A value whose call began earlier never takes the place of one whose call began later.
if ARGV[3] ~= '' then
  local at = redis.call('HGET', KEYS[1], 'at')
  if not at or tonumber(at) <= tonumber(ARGV[2]) then
    local time = redis.call('TIME')
    local due = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[5]
    redis.call('HSET', KEYS[1], 'at', ARGV[2], 'outcome', ARGV[3], 'due', string.format('%.0f', due))
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
  end
end
redis.call('SET', KEYS[3], ARGV[6], 'PX', ARGV[7])
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1
