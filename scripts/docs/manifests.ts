import { readFileSync } from 'node:fs'
import { buildSync } from 'esbuild'
import { claudeCode } from '../../src/assistants/claude-code.ts'
import { BY_NAME } from '../../src/assistants/launch.ts'
import { KEY_VARIABLES, PRESET_NAMES, PRESETS } from '../../src/providers/providers.ts'

interface Variable {
  name: string
}

/** `server.json`, which registries of MCP servers read, with the version and the variables of the providers as they are. */
export function serverDescription(found: string): string {
  const description = JSON.parse(found)
  const [npm] = description.packages
  description.version = npm.version = JSON.parse(readFileSync('package.json', 'utf8')).version
  const isDerived = ({ name }: Variable) => !name.startsWith('GAZEWAY_') || name === 'GAZEWAY_UPSTREAM'
  const others = npm.environmentVariables.filter((variable: Variable) => !isDerived(variable))
  npm.environmentVariables = [...keyVariables(), upstreamVariable, ...others]
  return json(description)
}

/** `deploy/helm/gazeway/Chart.yaml`: the chart has the version of the package, which is that of its image. */
export function helmChart(found: string): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  return found.replace(/^(version|appVersion): .*$/gm, (_, name) => `${name}: ${version}`)
}

/** `mcp.example.json`: an entry that hands on the provider and whichever key is exported. */
export function entryExample(): string {
  const env = Object.fromEntries(['GAZEWAY_UPSTREAM', ...KEY_VARIABLES].map((name) => [name, `\${${name}:-}`]))
  return json({ mcpServers: { gazeway: { ...BY_NAME, env } } })
}

/** `plugin/.mcp.json`: the server of the Claude Code plugin, which hands on whichever key is exported. */
export function pluginServers(): string {
  const variables = ['GAZEWAY_UPSTREAM', 'GAZEWAY_UPSTREAM_API_KEY', ...KEY_VARIABLES]
  const launch = { command: 'node', args: ['${CLAUDE_PLUGIN_ROOT}/gazeway.mjs'] }
  return json({ mcpServers: { gazeway: claudeCode.entry(launch, variables) } })
}

/** `plugin/mcp.json`: the server of the Agent Plugins package. Its clients expand no variable but the plugin's own folders. */
export function agentPluginServers(): string {
  const launch = { type: 'stdio', command: 'node', args: ['${PLUGIN_ROOT}/gazeway.mjs'] }
  return json({ $schema: agentPluginsSchema('mcp'), mcpServers: { gazeway: launch } })
}

/** `plugin/gazeway.mjs`: what the plugin starts, in one file, as nothing is built where a plugin is installed. */
export function pluginLauncher(): string {
  const { outputFiles } = buildSync({
    entryPoints: ['adapters/command/plugin-launcher.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    write: false,
  })
  return `// Generated from adapters/command/plugin-launcher.ts by npm run docs.\n${outputFiles[0]?.text}`
}

/** `plugin/.claude-plugin/plugin.json`, with what package.json says of the package. */
export function pluginManifest(): string {
  return json(packageDescription())
}

/** `plugin/plugin.json`: the manifest of the Agent Plugins package (agent-plugins.org, 1.0.0), from the same description. */
export function agentPluginManifest(): string {
  return json({ $schema: agentPluginsSchema('plugin'), ...packageDescription() })
}

function packageDescription() {
  const { name, version, description, author, license, keywords } = JSON.parse(readFileSync('package.json', 'utf8'))
  return { name, version, description, author: { name: author }, license, keywords }
}

const agentPluginsSchema = (of: string) => `https://agent-plugins.org/schemas/1.0.0/${of}.schema.json`

const upstreamVariable = {
  name: 'GAZEWAY_UPSTREAM',
  description: `Model provider: ${PRESET_NAMES.join(', ')}, or an OpenAI-compatible base URL.`,
  default: PRESETS[0].name,
}

const keyVariables = () =>
  PRESETS.flatMap(({ label, key }, index) => {
    if (key === null) return []
    const rest = index === 0 ? ', the default model provider. Without it the model tools say what to do.' : '.'
    return [{ name: key.variable, description: `Key for ${label}${rest}`, isSecret: true }]
  })

/** As the formatter has it: lists on one line where they fit. */
export const json = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replace(/^(.*)\[\n\s+("(?:[^[\]{}]|\$\{\w+\})*")\n\s+\](,?)$/gm, oneLine)}\n`

function oneLine(list: string, before: string, items: string, after: string): string {
  const line = `${before}[${items.replace(/\n\s+/g, ' ')}]${after}`
  return line.length > 120 ? list : line
}
