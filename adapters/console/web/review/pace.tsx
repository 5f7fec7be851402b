import { linesRead, type ReviewState } from './review-state.ts'

/** The pace of the reading beside the reviewer's own, and its first scan. */
export function Pace({ state }: { state: ReviewState }) {
  const { ms_per_line: pace, first_scan_ms: scan } = state.pace.value
  const { usual_ms_per_line: usual } = state.review
  if (pace === null || linesRead(state, state.parts.keys()).lines === 0) return null
  return (
    <p class="hint">
      Your pace: {seconds(pace)} a changed line
      {usual !== null && <>, and {seconds(usual)} in the median of your last reviews</>}.
      {scan !== null && <> First scan: 80 % of the lines had been in view after {seconds(scan)}.</>}
    </p>
  )
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
