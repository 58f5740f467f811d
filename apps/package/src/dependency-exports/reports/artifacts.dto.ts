import { Int, Text } from '@rookery/api-v4';

/** Source: reference packages-and-admin 6.4. */
export class CreateArtifact {
  @Int({ in: 'path', about: 'Id of the job.' }) id: number;
  @Text({ optional: true, about: 'Token of the running job. Also as a part of the form in front of the file.' })
  token?: string;
  @Text({ optional: true, about: 'Always `cyclonedx`. Also as a part of the form.' }) artifact_type?: string;
  @Text({ optional: true, about: '`gzip` or `raw` (default). Also as a part of the form in front of the file.' })
  artifact_format?: string;
}
