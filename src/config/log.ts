import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import type { Logger } from 'pino'
import type { Config } from './config-schema.ts'
import { redactText } from './redact.ts'

/** Threshold of logged lines. */
export type LogLevel = Config['log']['level']

/** Fields of a line beside its message. An `Error` goes under `err`. */
export type LogFields = Readonly<Record<string, unknown>>

/** Log for operators. Writing never throws. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Creates a log that adds `fields` to each line. */
  child(fields: LogFields): Log
  /** Changes the level of this log and its children. */
  setLevel(level: LogLevel): void
  /** Redacts further secrets, in this log and its children. */
  keepOut(secrets: readonly string[]): void
}

/** Options of a log. */
export interface LogOptions {
  /** Least severe level that is written. */
  level: LogLevel
  /** Secrets to redact, read per line. */
  secrets: () => readonly string[]
  /** Destination of the lines. Defaults to stderr. */
  destination?: { write(line: string): void }
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: Infinity }
const STDERR = 2
/** Consecutive retries, 100 ms apart, while stderr is full: its reader is slow or has stopped. */
const RETRIES = 3
/** Buffer for unwritten text, in characters. Text beyond it is dropped. */
const KEPT_LENGTH = 2 ** 20

/**
 * Creates a log of JSON lines, each `{"level", "time", "pid", …fields, "msg"}`, with known secrets and anything that
 * looks like one redacted. Lines are written synchronously, so none is lost when the process ends. pino is loaded with
 * the first line.
 */
export function createLog({ level, secrets, destination }: LogOptions): Log {
  let root: Lines | null = null
  const state = { threshold: SEVERITY[level], secrets: new Set<string>() }
  const known = () => [...new Set([...secrets(), ...state.secrets])].sort((a, b) => b.length - a.length)
  const redacted = (text: string) => redactText(text, asInJson(known()))
  const plain = plainLines((text) => (destination ?? bareStderr).write(redacted(text)))
  return facade(() => {
    root ??= openLogger(redacted, destination)
    return root ?? plain
  }, state)
}

/** The parts of pino that are used. */
type Lines = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> & { child(fields: LogFields): Lines }

/** State shared by a log and its children. */
interface LogState {
  threshold: number
  /** Secrets added after creation. */
  secrets: Set<string>
}

function facade(logger: () => Lines, state: LogState): Log {
  const line =
    (level: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields: LogFields = {}) => {
      if (SEVERITY[level] >= state.threshold) logger()[level](fields, message)
    }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child(fields) {
      let of: Lines | undefined
      let own: Lines | undefined
      return facade(() => {
        const parent = logger()
        if (own === undefined || parent !== of) own = parent.child(fields)
        of = parent
        return own
      }, state)
    },
    setLevel(level) {
      state.threshold = SEVERITY[level]
    },
    keepOut(secrets) {
      for (const secret of secrets) state.secrets.add(secret)
    },
  }
}

/**
 * Opens pino.
 *
 * @returns null when pino cannot be loaded now
 */
function openLogger(redacted: (text: string) => string, destination: LogOptions['destination']): Lines | null {
  let pino: typeof import('pino').pino
  try {
    pino = (createRequire(import.meta.url)('pino') as typeof import('pino')).pino
  } catch {
    return null
  }
  return pino(
    {
      // The level was checked before.
      level: 'debug',
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redacted },
    },
    destination ?? openStderr(pino),
  )
}

/** Fallback without pino: Gazeway was removed or updated while running, or no file descriptor is left. */
function plainLines(write: (text: string) => void, of: LogFields = {}): Lines {
  const line = (level: string) => (fields: unknown, msg?: string) => {
    const head = { level, time: new Date().toISOString(), pid: process.pid }
    const merged = { ...of, ...(fields as LogFields) }
    let text: string
    try {
      text = JSON.stringify({ ...head, ...merged, msg }, (_, value) =>
        value instanceof Error ? inspect(value) : value,
      )
    } catch {
      // Not serializable as JSON.
      text = JSON.stringify({ ...head, fields: inspect(merged), msg })
    }
    write(`${text}\n`)
  }
  const lines: Lines = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => plainLines(write, { ...of, ...fields }),
  }
  return lines
}

const bareStderr = {
  write(text: string): void {
    try {
      writeSync(STDERR, text)
    } catch {
      // The output is full or closed: nobody can be told, and work continues.
    }
  },
}

function openStderr({ destination }: typeof import('pino').pino) {
  let tries = 0
  const stderr = destination({
    dest: STDERR,
    sync: true,
    maxLength: KEPT_LENGTH,
    // A reader that stopped must not stop Gazeway: buffered text follows with the next successful write.
    retryEAGAIN: () => ++tries <= RETRIES,
  })
  stderr.on('write', (written: number) => {
    if (written > 0) tries = 0
  })
  // The reader is gone, or the disk behind a redirection is full: nobody can be told, and work continues.
  stderr.on('error', () => {})
  // Flush the buffer once more.
  process.once('exit', () => stderr.write(''))
  return stderr
}

/** Secrets as they are, and as they appear inside a JSON string. */
function asInJson(secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])])
}
