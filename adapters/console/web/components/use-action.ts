import { useState } from 'preact/hooks'

/** Work that a person starts, such as saving: whether it is in progress, and the error of its last run. */
export interface Action {
  busy: boolean
  error: unknown
  setError(error: unknown): void
  /** Runs the work. Its error is kept, not thrown. */
  run(work: () => Promise<void> | void): Promise<void>
}

/** State of work that a person starts. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = async (work: () => Promise<void> | void) => {
    setBusy(true)
    setError(null)
    try {
      await work()
    } catch (fault) {
      setError(fault)
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, setError, run }
}
