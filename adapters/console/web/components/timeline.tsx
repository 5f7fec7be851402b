import type { ComponentChildren } from 'preact'
import { timeOf } from '../format.ts'
import type { Tone } from './inline.tsx'
import { When } from './inline.tsx'
import './timeline.css'

/** Past, current or future event. */
export interface Moment {
  /** RFC 3339; null when unknown or in the future. */
  at: string | null
  title: ComponentChildren
  detail?: ComponentChildren
  tone?: Tone
  /** True for a future moment. */
  ahead?: boolean
}

/** Events in order of time. Future events come last. */
export function Timeline({ label, moments }: { label: string; moments: readonly Moment[] }) {
  return (
    <ol class="timeline" aria-label={label}>
      {inOrder(moments).map(({ at, title, detail, tone = 'neutral', ahead }, place) => (
        <li key={place} class={`${tone}${ahead ? ' ahead' : ''}`}>
          <p class="moment">
            <strong>{title}</strong>
            {at !== null && <When at={at} />}
          </p>
          {detail && <div class="muted">{detail}</div>}
        </li>
      ))}
    </ol>
  )
}

/** Sorts by time. An event without a time stays after its predecessor. */
function inOrder(moments: readonly Moment[]): Moment[] {
  let last = 0
  const timed = moments.map((moment) => {
    last = moment.at === null ? last : timeOf(moment.at)
    return { moment, at: moment.ahead ? Infinity : last }
  })
  return timed.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ moment }) => moment)
}
