import type { PresetCloud } from '../../providers/cloud.ts'
import type { Provider } from '../upstreams/provider.ts'
import { azureCloud } from './azure-cloud.ts'
import { bedrockCloud } from './bedrock-cloud.ts'
import type { Cloud, CloudEnvironment } from './cloud.ts'
import { vertexCloud } from './vertex-cloud.ts'

const CLOUDS: Readonly<Record<PresetCloud['kind'], (provider: Provider, env: CloudEnvironment) => Cloud>> = {
  azure: azureCloud,
  bedrock: bedrockCloud,
  vertex: vertexCloud,
}

/**
 * Opens the cloud of an upstream.
 *
 * @param env environment with the cloud's own variables for credentials
 */
export function openCloud(provider: Provider, env: CloudEnvironment): Cloud {
  if (provider.cloud === null) throw new TypeError(`${provider.name} is in no cloud`)
  return CLOUDS[provider.cloud.kind](provider, env)
}
