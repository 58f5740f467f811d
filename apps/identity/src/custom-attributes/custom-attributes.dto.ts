import { Int, Text } from '@rookery/api-v4';

/** Below a group or project, which the path names as everywhere. */
export class AttributeParams {
  @Text() key: string;
}
export class WriteAttributeParams extends AttributeParams {
  @Text() value: string;
}

/** Below a user, who is named by his id alone. */
export class OfUserParams {
  @Int() id: number;
}
export class UserAttributeParams extends OfUserParams {
  @Text() key: string;
}
export class WriteUserAttributeParams extends UserAttributeParams {
  @Text() value: string;
}
