-- Formats milliseconds since 1970 as RFC 3339 in UTC. Lua in Redis has no date functions, so this counts years and months.
local MONTH_DAYS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function is_leap(year) return (year % 4 == 0 and year % 100 ~= 0) or year % 400 == 0 end

local function rfc3339(ms)
  local days, of_day = math.floor(ms / 86400000), ms % 86400000
  local year = 1970
  while days >= (is_leap(year) and 366 or 365) do
    days = days - (is_leap(year) and 366 or 365)
    year = year + 1
  end
  local month = 1
  while true do
    local length = MONTH_DAYS[month] + ((month == 2 and is_leap(year)) and 1 or 0)
    if days < length then break end
    days = days - length
    month = month + 1
  end
  local hours, minutes = math.floor(of_day / 3600000), math.floor(of_day / 60000) % 60
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, days + 1, hours, minutes, math.floor(of_day / 1000) % 60, of_day % 1000)
end
