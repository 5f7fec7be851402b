import { readdirSync, readFileSync } from 'node:fs'
import { SECTION_NAMES } from '../../bench/results.ts'
import { barsPicture } from '../pictures/bars.ts'
import { SCHEMES } from '../pictures/scheme.ts'
import { commandReference } from './command-reference.ts'
import { configurationReference } from './configuration.ts'
import { errorsReference } from './errors.ts'
import { withGenerated } from './generated-block.ts'
import { assistantsTable, linksTable } from './install.ts'
import {
  agentPluginManifest,
  agentPluginServers,
  entryExample,
  helmChart,
  pluginLauncher,
  pluginManifest,
  pluginServers,
  serverDescription,
} from './manifests.ts'
import { FIGURES, headlineTable, measuredTable } from './measured.ts'
import { metricsReference } from './metrics.ts'
import { pluginHooks } from './plugin-hooks.ts'
import { modelsTable, providersTable } from './providers.ts'
import { retentionReference } from './retention.ts'
import { reviewPolicySchema } from './review-policy.ts'
import { routesTable } from './route-list.ts'
import { withShownVersion } from './shown-version.ts'
import { tokensTable } from './tokens.ts'
import { toolsReference } from './tools.ts'

/** A file that is generated, or has parts that are. */
export interface Page {
  file: string
  /** As it is in the tree. */
  found: string
  /** As the schemas say it should be. */
  expected: string
}

/**
 * The files that follow the schemas and the presets, as they are and as they should be. Paths start at the working
 * directory.
 */
export function generatedPages(): Page[] {
  const speeds = SECTION_NAMES.filter((name) => name !== 'attention')
  return [
    page('README.md', (text) => withGenerated(text, [headlineTable()])),
    page('docs/README.md', withShownVersion),
    page('docs/benchmarks.md', (text) => withGenerated(text, [tokensTable(), ...speeds.map(measuredTable)])),
    ...readdirSync('docs/guides').map((name) => page(`docs/guides/${name}`, withShownVersion)),
    page('docs/reference/attention.md', (text) => withGenerated(text, [measuredTable('attention')])),
    page('deploy/helm/gazeway/Chart.yaml', helmChart),
    page('docs/reference/commands.md', (text) => withGenerated(text, [commandReference()])),
    page('docs/reference/configuration.md', (text) => withGenerated(text, [configurationReference()])),
    page('docs/reference/errors.md', (text) => withGenerated(text, [errorsReference()])),
    page('docs/reference/assistants.md', (text) => withGenerated(text, [linksTable(), assistantsTable()])),
    page('docs/reference/metrics.md', (text) => withGenerated(text, [metricsReference()])),
    page('docs/reference/platform.md', (text) => withGenerated(text, [routesTable()])),
    page('docs/reference/review-policy.schema.json', reviewPolicySchema),
    page('docs/reference/store.md', (text) => withGenerated(text, [retentionReference()])),
    page('docs/reference/tools.md', (text) => withGenerated(text, [toolsReference()])),
    page('docs/reference/upstream.md', (text) => withGenerated(text, [providersTable(), modelsTable()])),
    page('mcp.example.json', entryExample),
    page('plugin/.claude-plugin/plugin.json', pluginManifest),
    page('plugin/.mcp.json', pluginServers),
    page('plugin/plugin.json', agentPluginManifest),
    page('plugin/mcp.json', agentPluginServers),
    page('plugin/gazeway.mjs', pluginLauncher),
    page('plugin/hooks/hooks.json', pluginHooks),
    page('server.json', serverDescription),
    ...Object.entries(FIGURES).flatMap(([name, figure]) =>
      SCHEMES.map((scheme) => page(`docs/images/${name}-${scheme}.svg`, () => barsPicture(figure, scheme))),
    ),
  ]
}

function page(file: string, generate: (found: string) => string): Page {
  const found = readFileSync(file, 'utf8')
  return { file, found, expected: generate(found) }
}
