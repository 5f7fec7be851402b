import { readFileSync } from 'node:fs'
import type { McpbManifestAny } from '@anthropic-ai/mcpb'
import { PRESET_NAMES, PRESETS } from '../../src/providers/providers.ts'
import { tools } from '../../tools/index.ts'

/** The manifest of the MCP bundle: the command of the server, its tools, and the settings that the user fills in. */
export function bundleManifest(): McpbManifestAny {
  const { name, version, description, author, license, keywords, engines } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  return {
    manifest_version: '0.3',
    name,
    display_name: 'Gazeway',
    version,
    description,
    author: { name: author },
    license,
    keywords,
    server: {
      type: 'node',
      entry_point: 'dist/cli.js',
      mcp_config: {
        command: 'node',
        args: ['${__dirname}/dist/cli.js'],
        env: { GAZEWAY_UPSTREAM: '${user_config.upstream}', GAZEWAY_UPSTREAM_API_KEY: '${user_config.api_key}' },
      },
    },
    tools: tools.map((tool) => ({ name: tool.name, description: tool.title })),
    user_config: {
      upstream: {
        type: 'string',
        title: 'Provider of models',
        description: `One of ${PRESET_NAMES.join(', ')}, or the base URL of an OpenAI-compatible service.`,
        default: PRESETS[0].name,
        required: false,
      },
      api_key: {
        type: 'string',
        title: 'Key for the provider',
        description: 'Without it the model tools say what to do, and the others work.',
        sensitive: true,
        required: false,
        default: '',
      },
    },
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: engines.node } },
  }
}
