/** The limit is looked after this often while it lasts, but at least once a second. */
const LOOKS = 20
const LONGEST_PAUSE_MS = 1000

/** Something that is waited for. */
export interface Wait {
  /** How many looks had been taken when something was last heard. */
  heardAt: number
  /** Where it stands among all that is waited for. */
  place: number
  onSilence: () => void
}

/** Looks after all that is waited for at once: a timer for each request takes a fortieth of all that a request costs. */
export interface SilenceWatch {
  /** @param onSilence called once nothing has been heard for the limit, and again at each look until `heard` or `end` */
  begin(onSilence: () => void): Wait
  heard(wait: Wait): void
  end(wait: Wait): void
}

/** @param limitMs how long it may be silent; it is noticed up to a twentieth later, or a second where that is less */
export function watchSilence(limitMs: number): SilenceWatch {
  const pauseMs = Math.min(limitMs / LOOKS, LONGEST_PAUSE_MS)
  const limit = Math.ceil(limitMs / pauseMs)
  const waits: Wait[] = []
  let looks = 0
  let looking = false

  function look(): void {
    looks++
    const silent = waits.filter(({ heardAt }) => looks - heardAt > limit)
    for (const { onSilence } of silent) onSilence()
    // Not as soon as nothing is left: one request after the other would each start it anew.
    looking = false
    if (waits.length > 0) lookOn()
  }
  function lookOn(): void {
    if (looking) return
    looking = true
    setTimeout(look, pauseMs).unref()
  }

  return {
    begin(onSilence) {
      lookOn()
      const wait = { heardAt: looks, place: waits.length, onSilence }
      waits.push(wait)
      return wait
    },
    heard(wait) {
      wait.heardAt = looks
    },
    end(wait) {
      const last = waits.pop()
      if (last === undefined || last === wait) return
      waits[wait.place] = last
      last.place = wait.place
    },
  }
}
