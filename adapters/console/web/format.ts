const counts = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const shares = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const utcDates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const utcDays = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** Smallest amount that is shown with two decimals. */
const CENT = 0.01

/** `$12.34`, `<$0.01`: two decimals, so that the amounts of a column compare. */
export function usd(value: number): string {
  const size = Math.abs(value)
  if (size > 0 && size < CENT / 2) return value < 0 ? '>−$0.01' : '<$0.01'
  return signed(value, 2)
}

/** `$0.000153`: all decimals of an amount, for one call and for prices. @param least decimals, also where they are zero */
export const usdExact = (value: number, least = 2): string => signed(value, 6, least)

function signed(value: number, decimals: number, least = 2): string {
  const size = Math.abs(value)
  const text = size.toLocaleString('en', { minimumFractionDigits: least, maximumFractionDigits: decimals })
  return `${value < 0 ? '−' : ''}$${text}`
}

/** `12,345` */
export const count = (value: number): string => counts.format(value)

/** `12 calls` */
export const callsText = (calls: number): string => `${count(calls)} ${calls === 1 ? 'call' : 'calls'}`

/** `12.3K` */
export const short = (value: number): string =>
  Math.abs(value) < 10_000 ? counts.format(value) : compact.format(value)

/** `4.2%`. @param share 0–1 */
export const percent = (share: number): string => shares.format(share)

/** `340 ms`, `2.1 s`, `3 min`, `5 h`, `2 days`. @param ms a duration in milliseconds */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}

/** Milliseconds since 1970. @param at RFC 3339, or Unix seconds */
export const timeOf = (at: string | number): number => (typeof at === 'number' ? at * 1000 : Date.parse(at))

/** Date and time of day in the reader's zone. */
export const moment = (ms: number): string => moments.format(ms)

/** The time of day in the reader's zone. */
export const timeOfDay = (ms: number): string => clock.format(ms)

/** The day and month in the reader's zone. */
export const dayOfMonth = (ms: number): string => days.format(ms)

/** The date of a UTC day, wherever the reader is. */
export const utcDate = (ms: number): string => utcDates.format(ms)

/** The day and month of a UTC day. */
export const utcDayOfMonth = (ms: number): string => utcDays.format(ms)

/** `just now`, `3 min ago`, `in 2 h` */
export function relative(ms: number, now: number): string {
  const gap = now - ms
  if (Math.abs(gap) < 5000) return 'just now'
  const size = duration(Math.round(Math.abs(gap) / 1000) * 1000).replace(/\.\d s/, ' s')
  return gap > 0 ? `${size} ago` : `in ${size}`
}

/** `142 KB`. */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} KB` : `${(size / 1_000_000).toFixed(1)} MB`
}

/** `key_…9f21`, `0x5FbD…80aa3`: enough of an id to recognize it. */
export function shortId(id: string): string {
  if (id.length <= 14) return id
  return `${/^[a-z]{1,8}_/.exec(id)?.[0] ?? id.slice(0, 6)}…${id.slice(-5)}`
}
