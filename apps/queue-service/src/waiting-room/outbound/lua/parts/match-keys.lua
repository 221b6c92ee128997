-- Part of every script: the names of one match's keys. All of them carry the hash tag {match_id}, so they live in one
-- cluster slot; a fan's own keys are computed here from the fan's id because most scripts learn whose they are on the way.
local line, meta, windows, window_ends, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local closing_line, closing_windows, closing_window_ends = KEYS[6], KEYS[7], KEYS[8]
local seen, gone, away, back, called, used = KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]
local moves, audit, pod_beats, replaced, restored = KEYS[15], KEYS[16], KEYS[17], KEYS[18], KEYS[19]
local match_id, persistence_s, presence_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local function session_key(user) return 'queue_session:' .. user .. ':{' .. match_id .. '}' end
local function ended_key(user) return 'queue_ended:' .. user .. ':{' .. match_id .. '}' end
local function token_key(token) return 'queue_token:' .. token .. ':{' .. match_id .. '}' end

-- Redis' own clock is the only one: microseconds since 1970 (about 1.8e15) fit a double exactly.
local time = redis.call('TIME')
local now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now_ms = math.floor(now_us / 1000)

-- Lua would print 16 digits as 1.7e+15.
local function digits(number) return string.format('%.0f', number) end
local now_ms_text = digits(now_ms)
