import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder } from '../../../src/store/make-folder.ts'
import { replaceFile } from '../../../src/store/replace-file.ts'
import { parseJson } from '../../../src/text/json.ts'

/** Time from its creation after which a task is removed, in milliseconds. */
export const TASK_TTL_MS = 24 * 60 * 60 * 1000
/** Maximum number of tasks that are kept on a machine. */
const MAX_TASKS = 200
/** Time in which the process of a task starts and writes its first state, in milliseconds. */
const STARTS_MS = 60_000
/** Age of a state from which its process is looked for, in milliseconds. */
const STALE_MS = 10_000

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
  /** Creates a task. @returns its id, or null while the maximum number of tasks is kept */
  create(call: TaskCall): Promise<string | null>
  /** Reads the call of a task; null for an unknown one. */
  call(id: string): Promise<TaskCall | null>
  /** Reads the state of a task; null before its process has written one. */
  state(id: string): Promise<TaskState | null>
  write(id: string, state: TaskState): Promise<void>
  /** Asks the process of a task to stop. */
  cancel(id: string): Promise<void>
  isCancelled(id: string): boolean
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

  /** Removes expired tasks. @returns the number of those that are kept */
  async function sweep(): Promise<number> {
    const ids = await readdir(folder)
    const expired = await Promise.all(
      ids.map(async (id) => {
        const made = await stat(fileOf(id, 'call.json')).catch(() => null)
        if (made === null || Date.now() - made.mtimeMs <= TASK_TTL_MS) return false
        await rm(join(folder, id), { recursive: true, force: true })
        return true
      }),
    )
    return expired.filter((isGone) => !isGone).length
  }

  return {
    async create(call) {
      makeFolder(folder)
      if ((await sweep()) >= MAX_TASKS) return null
      const id = randomUUID()
      makeFolder(join(folder, id))
      await replaceFile(fileOf(id, 'call.json'), JSON.stringify(call))
      return id
    },
    call: (id) => read(id, 'call.json', TaskCall),
    state: (id) => read(id, 'state.json', TaskState),
    write: (id, state) => replaceFile(fileOf(id, 'state.json'), JSON.stringify(state)),
    cancel: (id) => writeFile(fileOf(id, 'cancel'), '', { mode: 0o600 }),
    isCancelled: (id) => existsSync(fileOf(id, 'cancel')),
  }
}

/** Tells whether the process of a task has ended without a result, or never started. */
export function hasEnded({ created_at }: TaskCall, state: TaskState | null): boolean {
  if (state === null) return Date.now() - Date.parse(created_at) > STARTS_MS
  // After a pause of the whole machine every state is old: only a process that is gone has ended.
  return state.status === 'working' && Date.now() - Date.parse(state.updated_at) > STALE_MS && !isAlive(state.pid)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
