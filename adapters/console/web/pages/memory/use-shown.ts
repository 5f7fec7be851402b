import { useEffect, useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import { api } from '../../api.ts'
import { addressWith, go, queryOf } from '../../router.ts'

/** Address of the present list with a memory shown over it. */
export const addressOf = ({ key, namespace, project }: Memory): string => addressWith({ key, in: namespace, project })

/** Memory that the address names: loaded once, so that it stays as it is while it is edited. Null without one. */
export function useShown(query: URLSearchParams) {
  const [key, namespace, project] = ['key', 'in', 'project'].map((name) => query.get(name))
  const [shown, setShown] = useState<Memory | null>(null)
  const [error, setError] = useState<unknown>(null)

  useEffect(() => {
    setShown(null)
    setError(null)
    if (!key) return
    const ending = new AbortController()
    const path = `/api/memory/recall${queryOf({ key, namespace, project })}`
    api.get<{ memory: Memory }>(path, { signal: ending.signal }).then(
      ({ memory }) => setShown(memory),
      (fault) => ending.signal.aborted || setError(fault),
    )
    return () => ending.abort()
  }, [key, namespace, project])

  const close = () => go(addressWith({ key: null, in: null, project: null }), true)
  return { shown: key ? shown : null, setShown, error, close }
}
