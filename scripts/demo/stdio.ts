import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Surface } from './surface.ts'

/**
 * Starts the built server as a coding assistant would, and speaks MCP with it. The client checks every answer against
 * the output schema that the server advertises.
 *
 * @param options.command the built `cli.js`
 * @param options.project the folder that the client names as its root
 */
export async function openStdio(options: { command: string; dataDir: string; project: string }): Promise<Surface> {
  const { command, dataDir, project } = options
  const client = new Client({ name: 'gazeway-demo', version: '1.0.0' }, { capabilities: { roots: {} } })
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(project).href }] }))
  const args = [command, '--upstream', 'sandbox', '--data', dataDir, '--log-level', 'error']
  const transport = new StdioClientTransport({ command: process.execPath, args, cwd: project })
  // Before the data folder is removed: at a stop, which the server would take its time for.
  process.prependOnceListener('exit', () => void (transport.pid !== null && process.kill(transport.pid, 'SIGKILL')))
  await client.connect(transport)
  const { tools } = await client.listTools()
  return {
    about: `Gazeway ${client.getServerVersion()?.version} as an MCP server on stdio, with the sandbox for a model`,
    tools: tools.map(({ name }) => name),
    async call(tool, input) {
      try {
        const { content, isError } = await client.callTool({ name: tool, arguments: input })
        const parts = content as Array<{ type: string; text?: string }>
        return { text: parts.map(({ text }) => text ?? '').join('\n'), failed: isError === true }
      } catch (error) {
        return { text: String(error), failed: true }
      }
    },
    close: () => client.close(),
  }
}
