package handlers

import "berth/handlers/api"

// secretOperations are those of companies' secrets and of the master key.
func secretOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/api/companies/:c/secrets", id: "listSecrets", who: whoKeeper,
			summary: "A company's secrets, without their values", query: windowed(search()), answers: []reply{listOf[api.Secret]()},
		},
		{
			method: "POST", path: "/api/companies/:c/secrets", id: "createSecret", who: whoKeeper,
			summary: "Create a secret; its value is never answered", body: typed[api.NewSecret](),
			answers: []reply{made[api.Secret]("Location")}, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/secrets/:id", id: "getSecret", who: whoKeeper,
			summary: "One secret with its versions and uses", answers: []reply{ok[api.Secret]()},
		},
		{
			method: "PATCH", path: "/api/secrets/:id", id: "updateSecret", who: whoKeeper,
			summary: "Rename, describe, disable or enable", body: typed[secretPatchBody](),
			answers: []reply{ok[api.Secret]()}, fails: []int{409, 422},
		},
		{
			method: "DELETE", path: "/api/secrets/:id", id: "deleteSecret", who: whoKeeper,
			summary: "Delete a secret that nothing refers to", answers: []reply{nothing()}, fails: []int{409},
		},
		{
			method: "POST", path: "/api/secrets/:id/rotate", id: "rotateSecret", who: whoKeeper,
			summary: "A new version", body: typed[api.RotateSecret](), answers: []reply{ok[api.Secret]()}, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/secrets/:id/accesses", id: "listSecretAccesses", who: whoKeeper,
			summary: "When it was opened, newest first", query: windowed(), answers: []reply{listOf[api.SecretAccess]()},
		},
		{
			method: "GET", path: "/api/environments/:id/secret-refs", id: "listSecretRefs", who: whoOperator,
			summary: "What an environment refers to, by path, without values", answers: []reply{ok[[]api.SecretRef]()},
		},
		{
			method: "POST", path: "/api/instance/rotate-key", id: "rotateMasterKey", who: whoOperator,
			summary: "Turn the master key over and seal every secret again", body: typed[struct{}](), optionalBody: true,
			answers: []reply{ok[api.KeyRotation]()}, fails: []int{409},
		},
	}
}
