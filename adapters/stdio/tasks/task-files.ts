import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { makeFolder } from '../../../src/store/make-folder.ts'
import { replaceFile } from '../../../src/store/replace-file.ts'
import { parseJson } from '../../../src/text/json.ts'
import { nullIfMissing } from '../../../src/text/missing-file.ts'

/** Time from its creation after which a task is removed, in milliseconds. */
export const TASK_TTL_MS = 24 * 60 * 60 * 1000
/** Maximum numbers of tasks that are kept on a machine, and that run at once, each as a process of its own. */
const MAX_TASKS = 200
export const MAX_RUNNING = 16
/** Time in which the process of a task starts and writes its first state, in milliseconds. */
const STARTS_MS = 60_000
/** Interval at which the process of a task writes that it works, in milliseconds. */
export const WRITES_MS = 2_000
/** Age of a state from which its process is looked for, and from which a process has to write again, in milliseconds. */
const STALE_MS = 10_000
const SILENT_MS = 60_000

/** Call that a task makes. */
export const TaskCall = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** The client's root folders when it asked. */
  roots: z.array(z.string()),
  traceparent: z.string().nullable(),
  created_at: z.string(),
})
export type TaskCall = z.infer<typeof TaskCall>

/** State of a task, as its own process writes it. `result` is what the tool answered. */
export const TaskState = z.object({
  status: z.enum(['working', 'completed', 'cancelled']),
  message: z.string().optional(),
  updated_at: z.string(),
  pid: z.int(),
  result: z.record(z.string(), z.unknown()).optional(),
})
export type TaskState = z.infer<typeof TaskState>

/** Tasks of this machine, each in a folder of its own below the data folder. */
export interface TaskFiles {
  /** Creates a task. @returns its id, or null while the maximum number of tasks is kept or runs */
  create(call: TaskCall): Promise<string | null>
  /** Removes a task whose process could not be started. */
  remove(id: string): Promise<void>
  /** Reads the call of a task; null for an unknown or expired one. */
  call(id: string): Promise<TaskCall | null>
  /** Reads the state of a task; null before its process has written one. */
  state(id: string): Promise<TaskState | null>
  write(id: string, state: TaskState): Promise<void>
  /** Asks the process of a task to stop. */
  cancel(id: string): Promise<void>
  isCancelled(id: string): boolean
  /**
   * Tells whether the process of a task has ended without a result, or never started. Waits for its next state where
   * another process may have its number by now, as after a restart of the machine.
   */
  hasEnded(id: string, call: TaskCall, state: TaskState | null): Promise<boolean>
}

/** Opens the tasks below a data folder. */
export function taskFiles(dataDir: string): TaskFiles {
  const folder = join(dataDir, 'mcp-tasks')
  const fileOf = (id: string, name: string) => join(folder, id, name)

  async function read<T>(id: string, name: string, schema: z.ZodType<T>): Promise<T | null> {
    // Ids come from clients, and name a folder.
    if (!z.uuid().safeParse(id).success) return null
    const text = await readFile(fileOf(id, name), 'utf8').catch(() => '')
    return schema.safeParse(parseJson(text)).data ?? null
  }

  const remove = (id: string) => rm(join(folder, id), { recursive: true, force: true })

  const ageOf = async (path: string): Promise<number | null> => {
    const info = await stat(path).catch(nullIfMissing)
    return info === null ? null : Date.now() - info.mtimeMs
  }

  /** Removes expired tasks, and folders without a task. @returns the numbers of tasks that are kept and that run */
  async function sweep(): Promise<{ kept: number; running: number }> {
    const tasks = await Promise.all(
      (await readdir(folder)).map(async (id) => {
        const age = await ageOf(fileOf(id, 'call.json'))
        // A process that ended, or a full disk, leaves a folder without a call.
        const isOver = age === null ? ((await ageOf(join(folder, id))) ?? 0) > STARTS_MS : age > TASK_TTL_MS
        if (isOver) await remove(id)
        const written = await ageOf(fileOf(id, 'state.json'))
        return { isOver, isRunning: written === null ? (age ?? 0) < STARTS_MS : written < STALE_MS }
      }),
    )
    const kept = tasks.filter(({ isOver }) => !isOver)
    return { kept: kept.length, running: kept.filter(({ isRunning }) => isRunning).length }
  }

  const state = (id: string) => read(id, 'state.json', TaskState)

  return {
    async create(call) {
      makeFolder(folder)
      const { kept, running } = await sweep()
      if (kept >= MAX_TASKS || running >= MAX_RUNNING) return null
      const id = randomUUID()
      makeFolder(join(folder, id))
      await replaceFile(fileOf(id, 'call.json'), JSON.stringify(call))
      return id
    },
    remove,
    async call(id) {
      const call = await read(id, 'call.json', TaskCall)
      return call === null || Date.now() - Date.parse(call.created_at) > TASK_TTL_MS ? null : call
    },
    state,
    write: (id, state) => replaceFile(fileOf(id, 'state.json'), JSON.stringify(state)),
    cancel: (id) => writeFile(fileOf(id, 'cancel'), '', { mode: 0o600 }),
    isCancelled: (id) => existsSync(fileOf(id, 'cancel')),
    async hasEnded(id, { created_at }, found) {
      if (found === null) return Date.now() - Date.parse(created_at) > STARTS_MS
      const age = Date.now() - Date.parse(found.updated_at)
      if (found.status !== 'working' || age <= STALE_MS) return false
      if (!isAlive(found.pid)) return true
      if (age <= SILENT_MS) return false
      // After a pause of the whole machine every state is old: a process of a task writes the next one soon.
      await delay(2 * WRITES_MS)
      return (await state(id))?.updated_at === found.updated_at
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
