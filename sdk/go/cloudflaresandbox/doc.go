// Workers with container-enabled Durable Object classes, and their container applications.
package cloudflaresandbox
