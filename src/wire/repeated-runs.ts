/** Shares a run: calls while `work` runs get the running promise. */
export function sharedRun<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}

/**
 * Shares what a run read for a multiple of the time that it took, so that readings take no more than one part in `times` of the
 * time, however often they are asked for. Calls while it is read share the run; a failed one is not kept.
 *
 * @param atMostMs longest time that it is shared, for a run that waited rather than worked
 * @param now monotonic time in milliseconds
 */
export function restingRun<T>(
  read: () => Promise<T>,
  { times, atMostMs }: { times: number; atMostMs: number },
  now = () => performance.now(),
): () => Promise<T> {
  let kept: { value: T; until: number } | undefined
  const run = sharedRun(async () => {
    const began = now()
    const value = await read()
    const ended = now()
    kept = { value, until: ended + Math.min((ended - began) * times, atMostMs) }
    return value
  })
  return async () => (kept !== undefined && now() < kept.until ? kept.value : run())
}

/**
 * Creates work to repeat at an interval, never twice at once. It does not keep the process alive.
 *
 * @param onError called when a run fails; the next one comes at its time
 */
export function createRepeated(
  work: () => Promise<void>,
  { everyMs, onError }: { everyMs: number; onError: (error: unknown) => void },
) {
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> | undefined
  const shared = sharedRun(() => work().catch(onError))
  /** Runs the work now, or joins the run in flight. */
  function run(): Promise<void> {
    last = shared()
    return last
  }
  return {
    run,
    /** Starts the interval, unless it has started. */
    start() {
      timer ??= setInterval(run, everyMs).unref()
    },
    /** Stops the interval, and waits for a run in flight. */
    async stop() {
      clearInterval(timer)
      timer = undefined
      await last
    },
  }
}
