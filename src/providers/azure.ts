import { openai } from './openai.ts'
import { OPENAI_FIELDS } from './openai-fields.ts'
import type { Preset } from './preset.ts'

/** Endpoint of a resource, by its name or its URL. */
function endpointOf(resource: string): string {
  if (!resource.includes('://')) return `https://${resource}.openai.azure.com`
  return resource.replace(/\/+$/, '').replace(/\/openai(?:\/v1)?$/, '')
}

/**
 * Azure OpenAI and the models of OpenAI in Azure AI Foundry, by
 * https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle. Which models there are is for the owner of
 * the resource to deploy. Global deployments cost what OpenAI asks; those of a data zone or a region may cost 10 % more.
 */
export const azure: Preset = {
  name: 'azure',
  label: 'Azure OpenAI',
  baseUrl: 'https://resource.openai.azure.com/openai',
  protocol: 'openai',
  accepts: ['system_first'],
  key: { variable: 'AZURE_OPENAI_API_KEY', page: 'https://portal.azure.com' },
  cloud: {
    kind: 'azure',
    variables: {
      resource: ['AZURE_OPENAI_ENDPOINT'],
      tenant_id: ['AZURE_TENANT_ID'],
      client_id: ['AZURE_CLIENT_ID'],
    },
    needs: ['resource'],
    address: ({ resource }) => `${endpointOf(resource ?? '')}/openai`,
    hosts: /\.(?:openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.(?:com|us|cn)$/,
  },
  roles: {},
  pricedFields: { ...OPENAI_FIELDS, tiers: () => ({ region: { datazone: 110, regional: 110 } }) },
  models: openai.models,
  pricedLike: ['openai'],
}
