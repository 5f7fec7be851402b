/** Checks per limit. The pause between checks is at most one second. */
const CHECKS = 20
const LONGEST_PAUSE_MS = 1000

/** A wait for activity. */
export interface Wait {
  /** Number of the check at which the last activity was seen. */
  heardAt: number
  /** Index in the list of waits. */
  place: number
  onSilence: () => void
}

/** One timer for all waits: a timer per request is measurably slower. */
export interface SilenceWatch {
  /** @param onSilence called once the limit has passed in silence, and again at each check until `heard` or `end` */
  begin(onSilence: () => void): Wait
  heard(wait: Wait): void
  end(wait: Wait): void
}

/**
 * Watches for silence.
 *
 * @param limitMs longest silence; detected up to a twentieth later, but at most one second later
 */
export function watchSilence(limitMs: number): SilenceWatch {
  const pauseMs = Math.min(limitMs / CHECKS, LONGEST_PAUSE_MS)
  const limit = Math.ceil(limitMs / pauseMs)
  const waits: Wait[] = []
  let checks = 0
  let isScheduled = false

  function check(): void {
    checks++
    const silent = waits.filter(({ heardAt }) => checks - heardAt > limit)
    for (const { onSilence } of silent) onSilence()
    // The timer outlives the last wait by one check: sequential requests would otherwise restart it each time.
    isScheduled = false
    if (waits.length > 0) scheduleCheck()
  }
  function scheduleCheck(): void {
    if (isScheduled) return
    isScheduled = true
    setTimeout(check, pauseMs).unref()
  }

  return {
    begin(onSilence) {
      scheduleCheck()
      const wait = { heardAt: checks, place: waits.length, onSilence }
      waits.push(wait)
      return wait
    },
    heard(wait) {
      wait.heardAt = checks
    },
    end(wait) {
      const last = waits.pop()
      if (last === undefined || last === wait) return
      waits[wait.place] = last
      last.place = wait.place
    },
  }
}
