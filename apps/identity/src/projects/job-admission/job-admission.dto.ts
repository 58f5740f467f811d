import { Flag, IdOrPath, Int } from '@rookery/api-v4';

/** Source: reference identity-and-import 4.10. */
export class IdentifyJobTokenScope {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class UpdateJobTokenScope extends IdentifyJobTokenScope {
  @Flag({ about: 'False: the project admits the jobs of all projects.' }) enabled: boolean;
}

export class CreateAdmittedProject extends IdentifyJobTokenScope {
  @Int({ about: 'Id of the project whose jobs are admitted.' }) target_project_id: number;
}

export class IdentifyAdmittedProject extends IdentifyJobTokenScope {
  @Int({ in: 'path' }) target_project_id: number;
}

export class CreateAdmittedGroup extends IdentifyJobTokenScope {
  @Int({ about: 'Id of the group whose projects are admitted, subgroups included.' }) target_group_id: number;
}

export class IdentifyAdmittedGroup extends IdentifyJobTokenScope {
  @Int({ in: 'path', about: 'Id of the group.' }) target_group_id: number;
}
