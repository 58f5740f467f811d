import { Flag, Int, OneOf } from '@rookery/api-v4';

const OF_PROJECT = ['dependency_list', 'csv', 'cyclonedx_1_6_json'] as const;
const OF_GROUP = ['json_array', 'csv'] as const;
const OF_PIPELINE = ['sbom'] as const;
const EMAIL = 'Sends an e-mail to the caller when the export has finished.';

/** Source: reference packages-and-admin 6.2. */
export class CreateProjectDependencyExport {
  @OneOf(OF_PROJECT, { about: 'Format of the file.' }) export_type: (typeof OF_PROJECT)[number];
  @Flag({ default: false, about: EMAIL }) send_email: boolean;
}

export class CreateGroupDependencyExport {
  @OneOf(OF_GROUP, { about: 'Format of the file.' }) export_type: (typeof OF_GROUP)[number];
  @Flag({ default: false, about: EMAIL }) send_email: boolean;
}

export class CreatePipelineDependencyExport {
  @Int({ in: 'path', about: 'Id of the pipeline.' }) id: number;
  @OneOf(OF_PIPELINE, { about: 'Format of the file.' }) export_type: (typeof OF_PIPELINE)[number];
  @Flag({ default: false, about: EMAIL }) send_email: boolean;
}

export class IdentifyDependencyExport {
  @Int({ in: 'path', about: 'Id of the export.' }) id: number;
}
