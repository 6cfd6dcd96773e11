trigger LeadRouting on Lead(before update, after insert, after update, after undelete) {
    LeadRoutingDispatcher.dispatch(Trigger.operationType, Trigger.new, Trigger.oldMap);
}
