import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { Log, LogFields } from '../../src/config/log.ts'

/** A log that also tells the client, by MCP's logging notifications; the client chooses from which level on. */
export function clientLog(mcp: McpServer, log: Log): Log {
  const line = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
    log[level](message, fields)
    if (!mcp.isConnected()) return
    const params = { level: level === 'warn' ? ('warning' as const) : level, logger: 'gazeway', data: { message } }
    // A client that has just gone needs no log.
    mcp.server.sendLoggingMessage(params).catch(() => {})
  }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => clientLog(mcp, log.child(fields)),
    setLevel: log.setLevel,
    keepOut: log.keepOut,
  }
}
