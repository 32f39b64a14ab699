import { payloadOf } from '../graphql/client.ts';
import { UpdateGroup, type UpdateUserGroupInput } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { useMessage } from '../ui/messages.tsx';
import type { GroupSectionProps } from './group.tsx';

/** Changes some fields of the group. Its result is the group as it is stored then. */
export function useUpdate({ group, onChanged }: GroupSectionProps) {
  const showMessage = useMessage();
  return useMutation(async (client, change: Omit<UpdateUserGroupInput, 'by'>) => {
    const { data, requestId } = await client.send(UpdateGroup, { input: { by: { id: group.id }, ...change } });
    const { userGroup } = payloadOf(data.updateUserGroup, requestId);
    onChanged(userGroup);
    showMessage('Saved');
    return userGroup;
  });
}
