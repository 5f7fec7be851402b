import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { duration, moment, percent, relative, shortId, timeOf, usd, usdExact } from '../format.ts'
import { now } from '../now.ts'

/** Meaning of a colour. */
export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

/** Label of a state. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** Amount, with all its decimals as the title. */
export function Money({ usd: amount }: { usd: number | null | undefined }) {
  if (amount === null || amount === undefined) return <span class="muted">—</span>
  return (
    <span class="money" title={`${amount} USD`}>
      {usd(amount)}
    </span>
  )
}

/** Relative time, with the date in the reader's zone as the title. @param at RFC 3339, or Unix seconds */
export function When({ at }: { at: string | number | null | undefined }) {
  if (at === null || at === undefined) return <span class="muted">—</span>
  const ms = timeOf(at)
  return (
    <time dateTime={new Date(ms).toISOString()} title={moment(ms)}>
      {relative(ms, now.value)}
    </time>
  )
}

/** Time until a moment, in seconds during the last hour. @param to RFC 3339, or Unix seconds */
export function Countdown({ to, over = 'now' }: { to: string | number; over?: string }) {
  const ms = timeOf(to)
  const left = ms - now.value
  const minutes = Math.floor(left / 60_000)
  const seconds = Math.floor((left % 60_000) / 1000)
  const text = minutes < 60 ? `${minutes}:${String(seconds).padStart(2, '0')}` : duration(left)
  return (
    <time class="countdown" dateTime={new Date(ms).toISOString()} title={moment(ms)}>
      {left <= 0 ? over : text}
    </time>
  )
}

/** Progress bar. @param value 0–1 */
export function Progress({ value, label, text }: { value: number; label: string; text?: string }) {
  const share = Math.max(0, Math.min(1, value))
  return (
    <div class="progress">
      <span>{label}</span>
      <progress max={1} value={share} aria-label={label} />
      <span class="figure">{text ?? percent(share)}</span>
    </div>
  )
}

/** Copying a text, and what a button says about it for two seconds. */
export function useCopy(text: string): { said: string; copy: () => Promise<void> } {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Select and copy')
    }
    setTimeout(() => setSaid(''), 2000)
  }
  return { said, copy }
}

/** Text with a copy button, such as a ticket. @param isShort shows a short form of an id, and copies the whole */
export function Copy({ text, label = 'Copy', isShort }: { text: string; label?: string; isShort?: boolean }) {
  const { said, copy } = useCopy(text)
  return (
    <span class="copy">
      {isShort ? <code title={text}>{shortId(text)}</code> : <code>{text}</code>}
      <button type="button" class="small" onClick={copy}>
        {said || label}
      </button>
      <span class="sr" role="status">
        {said}
      </span>
    </span>
  )
}

/**
 * Amount with all its decimals.
 *
 * @param signed shows a plus before income
 * @param aligned shows six decimals, as the other amounts of its column
 */
export function Exact(props: { usd: number; signed?: boolean; aligned?: boolean }) {
  const { usd, signed = false, aligned = false } = props
  const comesIn = signed && usd > 0
  return (
    <span class={comesIn ? 'money-in' : undefined}>{`${comesIn ? '+' : ''}${usdExact(usd, aligned ? 6 : 2)}`}</span>
  )
}
