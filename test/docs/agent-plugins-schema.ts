import * as z from 'zod'

const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0'
const words = z.string()

/**
 * `plugin.json` of an Agent Plugins package: the fields of
 * https://agent-plugins.org/schemas/1.0.0/plugin.schema.json, which takes no others.
 */
export const AgentPlugin = z.strictObject({
  $schema: z.literal(`${SCHEMAS}/plugin.schema.json`),
  name: z
    .string()
    .max(64)
    .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/)
    .refine((name) => !name.includes('--') && !name.includes('..')),
  version: words.optional(),
  description: words.optional(),
  author: z.strictObject({ name: words.optional(), email: words.optional(), url: words.optional() }).optional(),
  homepage: words.optional(),
  repository: words.optional(),
  license: words.optional(),
  keywords: z.array(words).optional(),
  extensions: z.record(words, z.looseObject({})).optional(),
})

const Headers = z.record(words, words).optional()

/** A server of `mcp.json`: one of three closed kinds. */
const Server = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stdio'),
    command: words.min(1),
    args: z.array(words).optional(),
    // Clients set these two themselves.
    env: z.record(words.regex(/^(?!PLUGIN_(?:ROOT|DATA)$)/), words).optional(),
    cwd: words.regex(/^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/).optional(),
  }),
  z.strictObject({ type: z.literal('streamable-http'), url: words.min(1), headers: Headers }),
  z.strictObject({ type: z.literal('sse'), url: words.min(1), headers: Headers }),
])

/** `mcp.json` of an Agent Plugins package: https://agent-plugins.org/schemas/1.0.0/mcp.schema.json. */
export const AgentPluginServers = z.strictObject({
  $schema: z.literal(`${SCHEMAS}/mcp.schema.json`),
  mcpServers: z.record(words, Server),
})
