-- Gives the lease back, if it is still ours and nothing has left. KEYS: lease, sending mark. ARGV: token.
if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 0 then
  return redis.call('DEL', KEYS[1])
end
return 0
