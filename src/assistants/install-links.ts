import type { Assistant } from './assistant.ts'
import { cursor } from './cursor.ts'
import { SERVER_NAME } from './format.ts'
import { handedOn } from './variables.ts'
import { vscode } from './vscode.ts'

/** A link that has an assistant write the entry itself. */
export interface InstallLink {
  assistant: Assistant
  /** For the web, where other schemes are taken out of pages: leads to the assistant's own. */
  page: string
  /** Opens the assistant at once. */
  direct: string
}

/** The one-click links, with the entry of the published package; the assistant shows it and asks. */
export function installLinks(): InstallLink[] {
  const launch = { command: 'npx', args: ['-y', SERVER_NAME] }
  const variables = handedOn(undefined, {})
  return [cursorLink(cursor.entry(launch, variables)), vscodeLink(vscode.entry(launch, variables))]
}

/** https://cursor.com/docs/mcp/install-links, read on 2026-11-24 */
function cursorLink(entry: object): InstallLink {
  const config = encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString('base64'))
  const query = `name=${SERVER_NAME}&config=${config}`
  return {
    assistant: cursor,
    page: `https://cursor.com/en/install-mcp?${query}`,
    direct: `cursor://anysphere.cursor-deeplink/mcp/install?${query}`,
  }
}

/** https://code.visualstudio.com/api/extension-guides/ai/mcp, read on 2026-11-24 */
function vscodeLink(entry: object): InstallLink {
  const named = JSON.stringify({ name: SERVER_NAME, ...entry })
  return {
    assistant: vscode,
    page: `https://vscode.dev/redirect/mcp/install?name=${SERVER_NAME}&config=${encodeURIComponent(JSON.stringify(entry))}`,
    direct: `vscode:mcp/install?${encodeURIComponent(named)}`,
  }
}
