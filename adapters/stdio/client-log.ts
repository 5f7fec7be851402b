import { AsyncLocalStorage } from 'node:async_hooks'
import type { LoggingLevel } from '@modelcontextprotocol/server'
import type { Log, LogFields } from '../../src/config/log.ts'

/** Sends one log message to the client; a level that the client did not ask for is left out there. */
export type Tell = (level: LoggingLevel, data: { message: string }) => Promise<void>

/** A log that also tells the client, by MCP's logging notifications. */
export interface ClientLog {
  log: Log
  /** Tells the client of every line from now on: it may have set a level for the whole connection. */
  tellAll(tell: Tell): void
  /** Tells the client of the lines that `work` writes: it set a level with the request. */
  telling<T>(tell: Tell, work: () => Promise<T>): Promise<T>
}

/** Dresses `log` so that the client hears it, too. */
export function createClientLog(log: Log): ClientLog {
  const request = new AsyncLocalStorage<Tell>()
  let everything: Tell | undefined

  function dress(own: Log): Log {
    const line = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
      own[level](message, fields)
      const tell = request.getStore() ?? everything
      // A client that has just gone needs no log.
      tell?.(level === 'warn' ? 'warning' : level, { message }).catch(() => {})
    }
    return {
      debug: line('debug'),
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      child: (fields) => dress(own.child(fields)),
      setLevel: own.setLevel,
      keepOut: own.keepOut,
    }
  }

  return {
    log: dress(log),
    tellAll(tell) {
      everything = tell
    },
    telling: (tell, work) => request.run(tell, work),
  }
}
