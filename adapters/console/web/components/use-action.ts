import { useState } from 'preact/hooks'

/** Work that a person starts, such as saving: `run` runs it, and keeps its error in place of throwing it. */
export function useAction() {
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
