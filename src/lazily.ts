import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { GazewayError, isFileGone, isOutOfFiles } from './errors.ts'
import { serveKeptCode } from './kept-code.ts'

/** Delays before a failed load is retried, in milliseconds. */
const RETRY_AFTER_MS = [20, 200, 1000]
/** Files that a load may have open at once. */
const FILES_AT_ONCE = 16

/** Message for a process that could not read its code, because it had no file descriptor left. */
export const OUT_OF_FILES =
  'No file descriptor was left to read the code of Gazeway. Raise the limit of open files (ulimit -n 1024), and start it again.'

let loads = 0
let onCodeGone: (error: GazewayError) => void = () => {}

/**
 * The one way to load code late: defers an `import()` until it is first needed. A failed load is retried, and not
 * remembered. When it fails for good, the process ends, see {@link whenCodeIsGone}. A process that has called `keepCode`
 * loads it although the package was replaced.
 *
 * @returns a function that gives the module. It throws GazewayError `service_stopping` when the module's file was
 *   replaced or removed, and `internal_error` when no file can be opened now
 * @example
 * const zlib = lazily(() => import('node:zlib'))
 * const { gzipSync } = await zlib()
 */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= counted(loaded(load)).catch((error) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/** Tells whether code is being loaded now. */
export const isLoadingCode = (): boolean => loads > 0

/**
 * Checks that files can be opened. Without descriptors, Node ends the whole process when a worker thread starts.
 *
 * @throws GazewayError `internal_error` when no file can be opened now
 */
export function requireDescriptors(): void {
  const shortage = shortageOfFiles()
  if (shortage !== null) throw noFiles(shortage)
}

/** Sets how a process ends that lacks code for good. Whoever started it then starts it again. */
export function whenCodeIsGone(end: (error: GazewayError) => void): void {
  onCodeGone = end
}

async function counted<T>(load: Promise<T>): Promise<T> {
  loads += 1
  try {
    return await load
  } finally {
    loads -= 1
  }
}

async function loaded<T>(load: () => Promise<T>): Promise<T> {
  for (const retryAfterMs of [...RETRY_AFTER_MS, null]) {
    const shortage = shortageOfFiles()
    const result = shortage === null ? await attempt(load) : { error: shortage }
    if ('value' in result) return result.value
    if (retryAfterMs !== null) await delay(retryAfterMs)
    else if (shortage !== null) throw noFiles(shortage)
    else throw gone(result.error)
  }
  throw new Error('Unreachable: the last attempt returns or throws.')
}

/** Loads a module, unless its file cannot be read now. */
async function attempt<T>(load: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    await serveKeptCode()
    return { value: await load() }
  } catch (error) {
    if (isFileGone(error) || isOutOfFiles(error)) return { error }
    throw error
  }
}

/** Node remembers for good that it could not read a module, so nothing is imported while no file can be opened. */
function shortageOfFiles(): unknown {
  const open: number[] = []
  try {
    for (let i = 0; i < FILES_AT_ONCE; i++) open.push(openSync(devNull, 'r'))
    return null
  } catch (error) {
    return error
  } finally {
    for (const file of open) closeSync(file)
  }
}

const noFiles = (cause: unknown): GazewayError =>
  new GazewayError(
    'internal_error',
    'No file descriptor was left to load a part of Gazeway. Retry, and raise the limit of open files.',
    { cause },
  )

function gone(cause: unknown): GazewayError {
  const message = isOutOfFiles(cause)
    ? OUT_OF_FILES
    : 'The files of this Gazeway were replaced or removed while it ran, as by an update. It ends now: start it again.'
  const error = new GazewayError('service_stopping', message, { cause })
  onCodeGone(error)
  return error
}
