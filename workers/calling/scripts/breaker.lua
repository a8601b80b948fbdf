-- One endpoint's breaker, under the rules of breaker.py, on the server's clock. KEYS: the breaker's hash.
-- ARGV: operation, owner, verdict or '', failures to open, cooldown ms, probe ms, endpoint, idle ms.
-- Answers {what, wait ms, failures}: for admit go|probe|no; for report ok|opened|closed.
local op, owner, verdict = ARGV[1], ARGV[2], ARGV[3]
local threshold, cooldown, probe_time = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local held = redis.call('HMGET', KEYS[1], 'failures', 'opened_at', 'prober', 'probe_until', 'forced')
local failures = tonumber(held[1] or '0')
local opened_at = tonumber(held[2] or '')
local prober = held[3] or ''
local probe_until = tonumber(held[4] or '0')
local forced = held[5] == '1'

local function remember(...)
  redis.call('HSET', KEYS[1], 'endpoint', ARGV[7], ...)
  redis.call('PEXPIRE', KEYS[1], ARGV[8])
end

local function wait()
  if not opened_at then
    return 0
  end
  local rest = math.max(0, opened_at + cooldown - now)
  if prober ~= '' then
    rest = math.max(rest, probe_until - now)
  end
  return rest
end

if op == 'admit' then
  if forced then
    return { 'no', 0, failures }
  end
  if not opened_at then
    return { 'go', 0, failures }
  end
  if wait() > 0 and prober ~= owner then
    return { 'no', wait(), failures }
  end
  remember('prober', owner, 'probe_until', now + probe_time)
  return { 'probe', 0, failures }
end

if op == 'open' then
  remember('opened_at', now, 'forced', '1', 'prober', '', 'probe_until', 0)
  redis.call('PERSIST', KEYS[1])
  return { 'opened', 0, failures }
end

-- op == 'report'
if forced or (opened_at and prober ~= owner) then
  return { 'ok', 0, failures }
end
if verdict == 'healthy' then
  redis.call('DEL', KEYS[1])
  return { opened_at and 'closed' or 'ok', 0, 0 }
end
if opened_at then
  if verdict == 'failing' then
    remember('opened_at', now)
  end
  remember('prober', '', 'probe_until', 0)
  return { verdict == 'failing' and 'opened' or 'ok', 0, failures }
end
if verdict == 'failing' then
  failures = failures + 1
  remember('failures', failures)
  if failures >= threshold then
    remember('opened_at', now)
    return { 'opened', 0, failures }
  end
end
return { 'ok', 0, failures }
