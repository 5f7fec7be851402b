import { AsyncLocalStorage } from 'node:async_hooks'
import type { LoggingLevel } from '@modelcontextprotocol/server'
import type { Log, LogFields } from '../../src/config/log.ts'

/** Sends a log message to the client, unless its level is below the one that the client asked for. */
export type Tell = (level: LoggingLevel, data: { message: string }) => Promise<void>

/** Log that the client also gets, as MCP logging notifications. */
export interface ClientLog {
  log: Log
  /** Sends every further line to the client, which may set a level for the whole connection. */
  tellAll(tell: Tell): void
  /** Sends the lines that `work` writes to the client, which set a level in its request. */
  telling<T>(tell: Tell, work: () => Promise<T>): Promise<T>
}

/** Wraps `log` so that the client gets its lines as well. */
export function createClientLog(log: Log): ClientLog {
  const request = new AsyncLocalStorage<Tell>()
  let everything: Tell | undefined

  function wrap(own: Log): Log {
    const line = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
      own[level](message, fields)
      const tell = request.getStore() ?? everything
      // A client that has just disconnected needs no log.
      tell?.(level === 'warn' ? 'warning' : level, { message }).catch(() => {})
    }
    return {
      debug: line('debug'),
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      child: (fields) => wrap(own.child(fields)),
      setLevel: own.setLevel,
      keepOut: own.keepOut,
    }
  }

  return {
    log: wrap(log),
    tellAll(tell) {
      everything = tell
    },
    telling: (tell, work) => request.run(tell, work),
  }
}
