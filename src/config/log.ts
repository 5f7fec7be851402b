import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import type { Logger } from 'pino'
import type { Config } from './config-schema.ts'
import { redactText } from './redact.ts'

/** How much is logged. */
export type LogLevel = Config['log']['level']

/** What a line tells beside its message; an `Error` goes under `err`. */
export type LogFields = Readonly<Record<string, unknown>>

/** Writes lines for whoever operates Gazeway. Writing never throws. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log whose every line tells `fields` too. */
  child(fields: LogFields): Log
  /** Takes another level into force, for this log and its children. */
  setLevel(level: LogLevel): void
  /** Keeps these secrets out of every line, too, in this log and its children. */
  keepOut(secrets: readonly string[]): void
}

/** What a log needs. */
export interface LogOptions {
  /** The least important kind of line that is written. */
  level: LogLevel
  /** The secrets to keep out of every line, asked for at each line. */
  secrets: () => readonly string[]
  /** Where lines go; stderr when absent. */
  destination?: { write(line: string): void }
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: Infinity }
const STDERR = 2
/** How often in a row stderr is tried again that is full, 100 ms apart: its reader is slow, or has stopped. */
const RETRIES = 3
/** How much is kept of what cannot be written, in characters; what comes then is dropped. */
const KEPT_LENGTH = 2 ** 20

/**
 * A log of JSON lines, each `{"level", "time", "pid", …fields, "msg"}`, without known secrets and without what looks like
 * one. Lines are written before the call returns, so none is lost when the process ends next. pino is loaded with the
 * first line that is written: a process that has nothing to say does not pay for it (8 ms bundled, 20 ms as packages).
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

/** What is used of pino. */
type Lines = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> & { child(fields: LogFields): Lines }

/** What a log and its children share. */
interface LogState {
  threshold: number
  /** Learned since the log was made. */
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

/** @returns null where pino cannot be loaded now */
function openLogger(redacted: (text: string) => string, destination: LogOptions['destination']): Lines | null {
  let pino: typeof import('pino').pino
  try {
    pino = (createRequire(import.meta.url)('pino') as typeof import('pino')).pino
  } catch {
    return null
  }
  return pino(
    {
      // Which lines are worth writing is decided before they get here.
      level: 'debug',
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redacted },
    },
    destination ?? openStderr(pino),
  )
}

/**
 * Lines without pino: Gazeway was removed or updated while it ran, and what it has not loaded yet is gone, or it had no
 * file descriptor left.
 */
function plainLines(write: (text: string) => void, of: LogFields = {}): Lines {
  const line = (level: string) => (fields: unknown, msg?: string) => {
    const head = { level, time: new Date().toISOString(), pid: process.pid }
    const told = { ...of, ...(fields as LogFields) }
    let text: string
    try {
      text = JSON.stringify({ ...head, ...told, msg }, (_, value) => (value instanceof Error ? inspect(value) : value))
    } catch {
      // JSON cannot carry them.
      text = JSON.stringify({ ...head, fields: inspect(told), msg })
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
      // It is full or closed: there is no one left to tell, and work goes on.
    }
  },
}

function openStderr({ destination }: typeof import('pino').pino) {
  let tries = 0
  const stderr = destination({
    dest: STDERR,
    sync: true,
    maxLength: KEPT_LENGTH,
    // A reader that has stopped must not stop Gazeway: what is kept follows with the next line that can be written.
    retryEAGAIN: () => ++tries <= RETRIES,
  })
  stderr.on('write', (written: number) => {
    if (written > 0) tries = 0
  })
  // Nobody reads any more, or the disk behind a redirection is full: there is no one left to tell, and work goes on.
  stderr.on('error', () => {})
  // What is kept is tried once more.
  process.once('exit', () => stderr.write(''))
  return stderr
}

/** The secrets as they stand inside a JSON string, beside as they are. */
function asInJson(secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])])
}
