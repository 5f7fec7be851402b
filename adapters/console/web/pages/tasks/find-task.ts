import { useEffect, useState } from 'preact/hooks'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { ApiError, api } from '../../api.ts'
import { isUnfinished } from './task-status-tone.ts'

/** Interval of refreshing unfinished tasks, in milliseconds. */
const ASK_MS = 5000

/** Loads tasks by id, for lists that name them. Finished tasks are loaded once. */
export function useTasks(ids: readonly string[]): ReadonlyMap<string, Task> {
  const [known, setKnown] = useState<ReadonlyMap<string, Task>>(new Map())
  const wanted = [...new Set(ids)].sort().join(' ')

  useEffect(() => {
    const found = new Map<string, Task>()
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async () => {
      const open = wanted.split(' ').filter((id) => id !== '' && isOpen(found.get(id)))
      const tasks = document.hidden ? [] : await Promise.all(open.map((id) => taskOf(id, ending.signal)))
      if (ending.signal.aborted) return
      for (const task of tasks) if (task) found.set(task.id, task)
      if (tasks.length > 0) setKnown(new Map(found))
      if (open.length > 0) timer = setTimeout(poll, ASK_MS)
    }
    void poll()
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [wanted])

  return known
}

const isOpen = (task: Task | undefined): boolean => task === undefined || isUnfinished(task)

/** Loads a task. Null when that fails; the list that names it reports the error. */
async function taskOf(id: string, signal: AbortSignal): Promise<Task | null> {
  try {
    return await api.get(`/api/tasks/${id}`, { signal })
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) return null
    throw error
  }
}
