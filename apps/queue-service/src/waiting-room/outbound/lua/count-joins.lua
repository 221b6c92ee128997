-- count-joins: adds joins of the first minute after the opening to the counts by address, of all pods together.
--
-- Guarantee: an address with more than MAX_SHARE of the line and at least MIN_JOINS joins is announced to the monolith once, whichever
-- pods call this. A repeated call counts the joins twice, so a call that failed is not repeated. O(addresses of the call).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 bounds of the histogram, ascending, as JSON  then two for each address: address,
--       number of joins
-- Returns nothing of use.
local MIN_JOINS, MAX_SHARE, LIFE_MS, MAX_ADDRESSES = 50, 0.02, 3600000, 200000
if not generation then return 0 end
local bounds, changes, total = cjson.decode(ARGV[4]), {}, 0

-- The field that counts the addresses with so many joins.
local function field_of(joins)
  for _, bound in ipairs(bounds) do
    if joins <= bound then return '#' .. bound end
  end
  return '#+Inf'
end

local known = redis.call('HLEN', joins_by_address)
local many = {}
for i = 5, #ARGV, 2 do
  local address, more = ARGV[i], tonumber(ARGV[i + 1])
  total = total + more
  if known < MAX_ADDRESSES or redis.call('HEXISTS', joins_by_address, address) == 1 then
    local joins = redis.call('HINCRBY', joins_by_address, address, more)
    local before, after = field_of(joins - more), field_of(joins)
    if joins > more then changes[before] = (changes[before] or 0) - 1 end
    changes[after] = (changes[after] or 0) + 1
    if joins >= MIN_JOINS then many[#many + 1] = { address, joins } end
  end
end
for field, change in pairs(changes) do
  if change ~= 0 then redis.call('HINCRBY', joins_by_address, field, change) end
end
total = redis.call('HINCRBY', joins_by_address, '#joins', total)
redis.call('PEXPIRE', joins_by_address, LIFE_MS)

-- The counts of other pods may be a moment behind, so the line itself may be longer than the joins that are counted.
total = math.max(total, redis.call('ZCARD', line))
for _, found in ipairs(many) do
  local address, joins = found[1], found[2]
  if joins > MAX_SHARE * total and redis.call('HSETNX', joins_by_address, '!' .. address, 1) == 1 then
    announce(cjson.encode({ event = 'queue.joins_from_one_address', match_id = match_id, address = address, joins = joins,
      line = total }))
  end
end
return 0
