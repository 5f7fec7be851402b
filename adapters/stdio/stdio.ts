import './uncompiled.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { keepCode } from '../../src/kept-code.ts'
import { cut } from '../../src/text/cut.ts'
import { plain } from '../../src/text/single-line.ts'
import { STOP_SIGNALS } from '../command/stop-signals.ts'
import { createCallsInFlight } from './calls-in-flight.ts'
import { createMcpServer } from './mcp-server.ts'
import { gatewayOpener } from './open-gateway.ts'
import { toolChoice } from './tool-choice.ts'
import { stdioTransport } from './transport.ts'

/** Time that aborted calls get at shutdown to write their records: after the end of the connection. */
const SHUTDOWN_MS = 6_000

/**
 * Serves the tools over stdio until the client disconnects or the process is stopped. The client's first message
 * chooses the protocol era.
 *
 * @param onServing called once messages and signals are handled
 * @returns when everything is flushed; the process may then exit
 * @throws GazewayError `config_invalid` when the configuration offers no tool
 */
export async function serveStdio(loaded: LoadedConfig, log: Log, onServing: () => void): Promise<void> {
  const choice = toolChoice(loaded.config.mcp)
  const gateway = gatewayOpener(loaded, log)
  const calls = createCallsInFlight({ loaded, log, gateway })
  const transport = stdioTransport(process.stdin, process.stdout)
  let isListed = false
  /** Keeps all other code, so that an update of the package does not concern this process. */
  function keepRest(): void {
    if (isListed) return
    isListed = true
    keepCode().then(
      () => log.debug('All code is kept.'),
      // Nothing is lost unless an update comes: a call reads its code from the files.
      (err) => log.debug('Failed to keep all code.', { err }),
    )
  }

  /** Aborts the calls in progress. The client gets their errors before the connection closes. */
  function stop(): void {
    calls.stop()
    transport.end()
  }
  // Never removed: without a listener of ours, libraries that listen for signals would end the process themselves.
  for (const signal of STOP_SIGNALS) process.on(signal, stop)
  serveConnection(
    ({ era }) =>
      createMcpServer(era, { dataDir: loaded.dataDir, gateway, callTool: calls.callTool, choice, onListed: keepRest }),
    {
      transport,
      onerror: (err) => log.debug('Failed to read a message.', { err }),
    },
  )
  onServing()
  const lost = await transport.closed
  if (lost.length > 0) reportLost(lost)
  // All calls are aborted by now, but each still writes its record.
  await Promise.race([calls.settled(), delay(SHUTDOWN_MS)])
  await gateway.close()
}

/** Says which requests were accepted and got no answer. */
function reportLost(lost: readonly string[]): void {
  const names = cut(plain([...new Set(lost)].join(', ')), 0, 500)
  const what = lost.length === 1 ? 'request' : 'requests'
  process.stderr.write(`gazeway: ${lost.length} ${what} got no answer before the end, and may not be done: ${names}\n`)
  process.exitCode = 1
}
